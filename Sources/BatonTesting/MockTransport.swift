public import Baton
