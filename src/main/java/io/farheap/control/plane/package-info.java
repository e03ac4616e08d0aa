/** The interface of a memory server to its clients, and the types that its calls take and return. */
@NullMarked
package io.farheap.control.plane;

import org.jspecify.annotations.NullMarked;
