/** The {@code farheap} command and those of its commands that belong to no other package. */
@NullMarked
package io.farheap.cli;

import org.jspecify.annotations.NullMarked;
