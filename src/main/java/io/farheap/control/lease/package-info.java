/** Keeps a client's leases alive, and gives back the regions that it owes. */
@NullMarked
package io.farheap.control.lease;

import org.jspecify.annotations.NullMarked;
