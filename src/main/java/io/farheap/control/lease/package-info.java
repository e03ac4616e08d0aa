/** How a client keeps its leases, and gives back what it owes. */
@NullMarked
package io.farheap.control.lease;

import org.jspecify.annotations.NullMarked;
