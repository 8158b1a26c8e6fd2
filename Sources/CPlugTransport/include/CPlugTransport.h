#ifndef C_PLUG_TRANSPORT_H
#define C_PLUG_TRANSPORT_H

// Makes a TLS context of swift-nio-ssl's BoringSSL (an SSL_CTX) issue no session tickets and take none.
void plug_transport_refuse_tickets(void *context);

#endif
