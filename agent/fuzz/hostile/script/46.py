print('a' * 30000000)
print('b' * 30000000)