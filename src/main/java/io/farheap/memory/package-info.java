/**
 * Memory that a device may reach: sealed shared mappings, and their registration. The packages that allocate such
 * memory decide about its content and its use.
 */
@NullMarked
package io.farheap.memory;

import org.jspecify.annotations.NullMarked;
