/**
 * What caches do, for services that collect metrics. The only package that needs Micrometer, which such a service
 * brings along.
 */
package io.farheap.metrics;
