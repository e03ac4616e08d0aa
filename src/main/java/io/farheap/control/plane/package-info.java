/** What a memory server does for its clients, as an interface, and what its calls take and return. */
@NullMarked
package io.farheap.control.plane;

import org.jspecify.annotations.NullMarked;
