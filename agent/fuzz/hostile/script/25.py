for i in range(100000):
    for j in range(100000):
        pass