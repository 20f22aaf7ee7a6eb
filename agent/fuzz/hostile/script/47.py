for i in range(100000): print(i)
1/0