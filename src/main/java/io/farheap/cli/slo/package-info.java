/** Performance models for users: options, what is shown while one is measured, and how well models keep their promises. */
package io.farheap.cli.slo;
