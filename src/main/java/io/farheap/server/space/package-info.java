/**
 * Shared spaces: regions with a name, which outlive the leases that open them. It uses leases, which hold their
 * openings; begin with {@link io.farheap.server.space.Spaces}.
 */
@NullMarked
package io.farheap.server.space;

import org.jspecify.annotations.NullMarked;
