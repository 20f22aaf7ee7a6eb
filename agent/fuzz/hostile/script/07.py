x = {}
i = 0
while True:
    x[i] = 'a' * 1000
    i += 1