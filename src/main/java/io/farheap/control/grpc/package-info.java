/** The control plane over gRPC: client, server, and the conversion of their messages. */
@NullMarked
package io.farheap.control.grpc;

import org.jspecify.annotations.NullMarked;
