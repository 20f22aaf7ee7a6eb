x = [0]*2000000000
final_answer('done')