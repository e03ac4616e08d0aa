/** Who opens something closes it, whatever goes wrong on the way. */
package io.farheap.lifetime;
