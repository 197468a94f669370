mod factors;
mod forms;
