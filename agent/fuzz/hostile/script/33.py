x = list(range(90000))
for i in x: x.index(-1)