/** Makes text that peers send safe to print. */
@NullMarked
package io.farheap.control.text;

import org.jspecify.annotations.NullMarked;
