/** The longest time to wait for something. Clocks, deadlines and the handling of a timeout belong elsewhere. */
@NullMarked
package io.farheap.time;

import org.jspecify.annotations.NullMarked;
