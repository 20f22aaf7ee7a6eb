x = 1
while True: x = x * 1000000