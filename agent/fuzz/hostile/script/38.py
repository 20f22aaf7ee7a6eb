def f(n):
    for i in range(1000): f(n + 1)
f(0)