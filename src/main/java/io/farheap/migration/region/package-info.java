/** Where a region is, and how it is moved while it is used. */
@NullMarked
package io.farheap.migration.region;

import org.jspecify.annotations.NullMarked;
