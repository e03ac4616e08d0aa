/** The place of each region, and the move of a region while it is used. */
@NullMarked
package io.farheap.migration.region;

import org.jspecify.annotations.NullMarked;
