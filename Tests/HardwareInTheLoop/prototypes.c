// Compiles if Firmware/CGPIOD declares the same functions and constants as libgpiod's header: cc -include HEADER
// -include DECLARATIONS prototypes.c
#define SAME_FUNCTION(type, name, parameters) type gpiod_##name parameters;
#define SAME_CONSTANT(name, value) _Static_assert(name == value, #name);
LIBGPIOD_FUNCTIONS(SAME_FUNCTION)
LIBGPIOD_CONSTANTS(SAME_CONSTANT)
