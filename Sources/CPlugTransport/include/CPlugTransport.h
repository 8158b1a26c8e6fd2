#ifndef C_PLUG_TRANSPORT_H
#define C_PLUG_TRANSPORT_H

// Disables session tickets in a TLS context (SSL_CTX) of swift-nio-ssl's BoringSSL: it issues and accepts no tickets.
void plug_transport_refuse_tickets(void *context);

#endif
