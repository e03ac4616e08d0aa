/** The connections of a client process and of a memory server to their cache managers. */
@NullMarked
package io.farheap.manager.client;

import org.jspecify.annotations.NullMarked;
