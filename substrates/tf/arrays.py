"""What arrays, and arguments that become arrays, are called in signatures."""

from typing import TypeAlias

import numpy as onp
import tensorflow as tf

Array: TypeAlias = tf.Tensor
Scalar: TypeAlias = tf.Tensor
Result: TypeAlias = tf.Tensor
ArrayLike: TypeAlias = tf.Tensor | tf.Variable | onp.typing.ArrayLike
Seed: TypeAlias = int | onp.integer | ArrayLike
