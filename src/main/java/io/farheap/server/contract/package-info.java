/**
 * The contracts of a server with its options and with the services in its process: options and limits, services, their
 * work on server threads, and shared spaces as services see them. Begin with {@link
 * io.farheap.server.contract.ServerService} and {@link io.farheap.server.contract.ServerOptions}.
 */
@NullMarked
package io.farheap.server.contract;

import org.jspecify.annotations.NullMarked;
