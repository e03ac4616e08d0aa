/** The control plane over gRPC: the client, the server, and what their messages are made of. */
@NullMarked
package io.farheap.control.grpc;

import org.jspecify.annotations.NullMarked;
