x = [1]
while True: x += x