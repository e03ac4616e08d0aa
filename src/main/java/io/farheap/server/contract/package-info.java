/**
 * What a server is given and what services in its process agree on with it: its options and limits, the services
 * themselves, their work on server threads, and shared spaces as they see them. Begin with
 * {@link io.farheap.server.contract.ServerService} and {@link io.farheap.server.contract.ServerOptions}.
 */
@NullMarked
package io.farheap.server.contract;

import org.jspecify.annotations.NullMarked;
