/** The cache manager over gRPC: the client, and what its messages are made of. */
@NullMarked
package io.farheap.manager.grpc;

import org.jspecify.annotations.NullMarked;
