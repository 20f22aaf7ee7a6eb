x = ()
for i in range(50000): x = (x,)
{x: 1}