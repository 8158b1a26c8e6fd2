#include "rsvg.h"
