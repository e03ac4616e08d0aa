/**
 * Shared spaces: regions with a name, which outlive the leases that open them. It stands on leases, which hold what
 * they have open; begin with {@link io.farheap.server.space.Spaces}.
 */
@NullMarked
package io.farheap.server.space;

import org.jspecify.annotations.NullMarked;
