try:
    while True: pass
except:
    pass
finally:
    while True: pass