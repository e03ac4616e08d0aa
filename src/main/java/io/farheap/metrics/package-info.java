/**
 * Figures of caches, maps, stores and servers, for services that collect metrics. The only package that needs
 * Micrometer, which such a service provides.
 */
@NullMarked
package io.farheap.metrics;

import org.jspecify.annotations.NullMarked;
