x = list(range(90000))
while True: x.pop(0)