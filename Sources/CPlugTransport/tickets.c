#include "CPlugTransport.h"

#include <stdint.h>

// swift-nio-ssl carries BoringSSL with this prefix and offers its headers to nobody. The name and the option are BoringSSL's
// public interface: SSL_CTX_set_options and SSL_OP_NO_TICKET.
uint32_t CNIOBoringSSL_SSL_CTX_set_options(void *context, uint32_t options);

static const uint32_t NO_TICKET = 0x00004000;

void plug_transport_refuse_tickets(void *context) { CNIOBoringSSL_SSL_CTX_set_options(context, NO_TICKET); }
