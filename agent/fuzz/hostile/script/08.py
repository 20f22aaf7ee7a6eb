x = []
while True: x.append('a' * 100000)