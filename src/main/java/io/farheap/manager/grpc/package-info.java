/** The cache manager over gRPC: the client, and the conversion of its messages. */
@NullMarked
package io.farheap.manager.grpc;

import org.jspecify.annotations.NullMarked;
