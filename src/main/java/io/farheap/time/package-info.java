/** How long something is waited for at most. Clocks, deadlines and what becomes of who waited belong elsewhere. */
@NullMarked
package io.farheap.time;

import org.jspecify.annotations.NullMarked;
