import Baton
import Testing
