//! Extractors of the API whose refusals are problem details: query, path and JSON body.

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The parameters of the query.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

/// The parameters of the path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

/// The body.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let told = |refused: axum::extract::rejection::QueryRejection| {
            Problem::new(StatusCode::BAD_REQUEST, refused.body_text())
        };
        read.map(|read| Self(read.0)).map_err(told)
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let told = |refused: axum::extract::rejection::PathRejection| {
            Problem::new(StatusCode::BAD_REQUEST, refused.body_text())
        };
        read.map(|read| Self(read.0)).map_err(told)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let read = axum::Json::<T>::from_request(request, state).await;
        let told = |refused: JsonRejection| Problem::new(refused.status(), refused.body_text());
        read.map(|read| Self(read.0)).map_err(told)
    }
}
