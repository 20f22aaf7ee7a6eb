while 1:
    x = 1