/**
 * What caches, maps and stores do, for services that collect metrics. The only package that needs Micrometer, which
 * such a service brings along.
 */
@NullMarked
package io.farheap.metrics;

import org.jspecify.annotations.NullMarked;
