/** Performance models of real devices: their measurement on a live cache, where they are kept, and how well they keep their promises. */
package io.farheap.cli.slo;
