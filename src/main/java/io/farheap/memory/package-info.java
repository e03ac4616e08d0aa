/**
 * Memory that a device may reach: sealed shared mappings, and their registration. Who is lent it, and what lies in it,
 * belongs to those who allocate it.
 */
@NullMarked
package io.farheap.memory;

import org.jspecify.annotations.NullMarked;
