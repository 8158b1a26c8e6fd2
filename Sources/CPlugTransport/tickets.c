#include "CPlugTransport.h"

#include <stdint.h>

// swift-nio-ssl contains BoringSSL with this symbol prefix and does not export its headers. The function and the option
// are part of BoringSSL's public interface: SSL_CTX_set_options and SSL_OP_NO_TICKET.
uint32_t CNIOBoringSSL_SSL_CTX_set_options(void *context, uint32_t options);

static const uint32_t NO_TICKET = 0x00004000;

void plug_transport_refuse_tickets(void *context) { CNIOBoringSSL_SSL_CTX_set_options(context, NO_TICKET); }
