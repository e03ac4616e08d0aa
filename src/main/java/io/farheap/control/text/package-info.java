/** Text that peers send, which is printed as it may be. */
@NullMarked
package io.farheap.control.text;

import org.jspecify.annotations.NullMarked;
