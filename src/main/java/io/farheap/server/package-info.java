/** Donates memory: regions of one registered arena, granted to clients under leases and taken back zeroed. */
package io.farheap.server;
