x = []
for i in range(50000): x = [x]
print(x)